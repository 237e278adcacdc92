// Members between our spelling and the provider's, which differ in the first letter: ours is small.
import { z } from "zod";

/** Of a communication or a batch (P2 §4.1–4.3). Not the empty one, which stands for no id. */
export const Uuid = z.guid().regex(/[^0-]/);

export const text = z.string().optional();
export const texts = z.array(z.string()).readonly().optional();
export const number = z.number().optional();
export const flag = z.boolean().optional();

/** The values of the members that the schema has, under the provider's names: with a capital, or as `exceptions` say. */
export function capitalised(
  { shape }: { shape: object },
  values: object,
  exceptions: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  const given = new Map(Object.entries(values));
  const entries = Object.keys(shape).map((name): [string, unknown] => [
    exceptions[name] ?? name.charAt(0).toUpperCase() + name.slice(1),
    given.get(name),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

type Read<S extends z.ZodObject> = { [N in keyof S["shape"]]: z.output<S["shape"][N]> };
type SaidOf<R> = {
  [N in keyof R]: undefined extends R[N] ? never : null extends R[N] ? never : N;
}[keyof R];

/** An answer as we spell it: a member that its schema lets be absent or null is optional. */
export type Ours<S extends z.ZodObject> = {
  [N in SaidOf<Read<S>> as Uncapitalize<N & string>]: Read<S>[N];
} & {
  [N in Exclude<keyof S["shape"], SaidOf<Read<S>>> as Uncapitalize<N & string>]?: NonNullable<
    Read<S>[N]
  >;
} & {
  /** Members of the answer that the schema does not have, untouched. */
  providerFields?: Record<string, unknown>;
};

/** The answer to a challenge is a secret, should the provider repeat it (P2 §2.3, §2.6, §2.9). */
const secret = /challengeresponse$/i;

/**
 * The members of an answer that the schema has, under our names, and all others untouched in `providerFields`. What is null or a secret
 * is left out. A page has thousands of objects: no array for each member.
 */
export function ours<S extends z.ZodObject>({ shape }: S, read: Record<string, unknown>): Ours<S> {
  const found: Record<string, unknown> = {};
  const others: string[] = [];
  for (const name of Object.keys(read)) {
    const value = read[name];
    if (value === undefined || value === null) continue;
    if (Object.hasOwn(shape, name)) found[name.charAt(0).toLowerCase() + name.slice(1)] = value;
    else if (!secret.test(name)) others.push(name);
  }
  if (others.length > 0)
    found["providerFields"] = Object.fromEntries(others.map((name) => [name, read[name]]));
  return found as Ours<S>;
}
