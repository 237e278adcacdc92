// Bodies in which one member has a value that nobody expects there: the texts that a provider, or anyone who knows the address, may post.

/** As they stand in JSON: some of them no JavaScript value can be. */
export const hostileValues: readonly string[] = [
  // Dates at both ends of what a database and JavaScript can hold, and beyond.
  ...[
    "0001-01-01T00:00:00+01:00",
    "0000-12-31T23:00:00Z",
    "9999-12-31T23:59:59-14:00",
    "+010000-01-01T00:00:00Z",
    "-000001-01-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T23:59:60Z",
    "2026-01-01T00:00:00+99:99",
    "infinity",
    "-infinity",
  ].map((text) => JSON.stringify(text)),
  // Numbers beyond an integer, beyond a double, and those that are none.
  ...["0", "-0", "-1", "1.5", "1e400", "-1e400", "1e-400", "9007199254740993", "9".repeat(400)],
  ...["NaN", "-0", "1e5", "0x10"].map((text) => JSON.stringify(text)),
  // Lengths.
  ...["", " ", "x".repeat(5_000), "\u{1f600}".repeat(1_200), "\u0301".repeat(2_000)].map((text) =>
    JSON.stringify(text),
  ),
  // NUL, lone surrogates, and characters that are none.
  ...["\\u0000", "a\\u0000b", "\\ud800", "\\udc00a", "a\\ud83d", "\\ud800\\ud800", "\\uffff"].map(
    (text) => `"${text}"`,
  ),
  ...["\u202e\u2066", "\u2028", "\ufeff", "');--", "\\x00", "{}", "null"].map((text) =>
    JSON.stringify(text),
  ),
  // Other types, and members that objects have of themselves.
  ...["null", "true", "false", "[]", "{}", "[null]", '[["a"]]', '{"a":{"b":[1]}}'],
  ...[
    '{"__proto__":null}',
    '{"toString":1}',
    '{"toJSON":{}}',
    '{"length":-1}',
    '{"constructor":0}',
  ],
  `${"[".repeat(2_000)}${"]".repeat(2_000)}`,
];

const PLACE = "@@";

export interface HostileBody {
  /** With a dot between the names. */
  member: string;
  text: string;
}

/** One body for each member of `genuine`, at whatever depth, and each value. `nameOf`: the `Identifier` of the body. */
export function* hostileBodies(
  genuine: Record<string, unknown>,
  nameOf: (member: string, index: number) => string,
): Generator<HostileBody> {
  for (const path of pathsOf(genuine)) {
    const member = path.join(".");
    for (const [index, value] of hostileValues.entries()) {
      const body = { ...structuredClone(genuine), Identifier: nameOf(member, index) };
      put(body, path);
      yield { member, text: JSON.stringify(body).replace(`"${PLACE}"`, () => value) };
    }
  }
}

function pathsOf(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    [name],
    ...pathsOf(inner).map((path) => [name, ...path]),
  ]);
}

function put(body: Record<string, unknown>, path: string[]): void {
  const names = [...path];
  const last = names.pop() ?? "";
  let holder = body;
  for (const name of names) holder = holder[name] as Record<string, unknown>;
  holder[last] = PLACE;
}
