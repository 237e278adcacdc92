export function withoutNulls<T extends object>(row: T): T {
  const found = {} as T;
  for (const name of Object.keys(row) as (keyof T)[])
    if (row[name] !== null) found[name] = row[name];
  return found;
}
