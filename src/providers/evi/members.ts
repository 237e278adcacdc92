// Members between our spelling and the provider's: only those that are named, and absent instead of undefined.

/** The values of `names`' keys under the provider's names. */
export function renamed(names: Record<string, string>, values: object): Record<string, unknown> {
  const given = new Map(Object.entries(values));
  const entries = Object.entries(names).map(([key, name]) => [name, given.get(key)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Without what is undefined. */
export function present(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** The members that are not named, untouched; undefined where there are none. */
export function others(
  read: Record<string, unknown>,
  named: ReadonlySet<string>,
): Record<string, unknown> | undefined {
  const found = Object.entries(read).filter(([name, value]) => !named.has(name) && value !== null);
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
