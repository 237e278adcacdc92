// Members between our spelling and the provider's: only those that are named, and absent instead of undefined.

/** The values of `names`' keys under the provider's names. */
export function renamed(names: Record<string, string>, values: object): Record<string, unknown> {
  const given = new Map(Object.entries(values));
  const entries = Object.entries(names).map(([key, name]) => [name, given.get(key)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Without what is undefined; `values` has names of ours alone. A page has thousands of objects: no array for each member. */
export function present(values: Record<string, unknown>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const name of Object.keys(values))
    if (values[name] !== undefined) found[name] = values[name];
  return found;
}

/** The members that are not named, untouched; undefined where there are none. */
export function others(
  read: Record<string, unknown>,
  named: Pick<ReadonlySet<string>, "has">,
): Record<string, unknown> | undefined {
  const names = Object.keys(read).filter((name) => !named.has(name) && read[name] !== null);
  return names.length === 0
    ? undefined
    : Object.fromEntries(names.map((name) => [name, read[name]]));
}
