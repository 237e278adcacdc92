// Checks that both inputs of the certificate service share: required sections and formatted texts (P1 §2.1–2.3).
import type { Checker } from "../../exchange/checker.js";

interface Format {
  fits(text: string): boolean;
  constraint: string;
}

export const date: Format = {
  fits: (text) =>
    /^\d{4}-\d{2}-\d{2}$/.test(text) &&
    !Number.isNaN(Date.parse(text)) &&
    new Date(text).toISOString().startsWith(text),
  constraint: "must be a date, YYYY-MM-DD",
};
export const country: Format = {
  fits: (text) => /^[A-Z]{2}$/.test(text),
  constraint: "must be an ISO 3166-1 alpha-2 code",
};
export const mobile: Format = {
  fits: (text) => /^\+[1-9]\d{6,14}$/.test(text),
  constraint: "must be an E.164 number",
};
export const email: Format = {
  fits: (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text),
  constraint: "must be an e-mail address",
};
export const language: Format = {
  fits: (text) => /^[A-Za-z]{2}$/.test(text),
  constraint: "must be a language code of two letters",
};

export function formatted(
  fields: Checker,
  name: string,
  { fits, constraint }: Format,
  isRequired = true,
): string | undefined {
  const text = isRequired ? fields.required(name) : fields.text(name);
  if (text === undefined || fits(text)) return text;
  return fields.fail(name, "InvalidFormat", constraint);
}

export function allowed<T extends string>(fields: Checker, name: string, values: readonly T[]) {
  return fields.required(name) === undefined ? undefined : fields.oneOf(name, values);
}

/** A required object; what it may hold. */
export function section(top: Checker, name: string, members: readonly string[]): Checker {
  const given = top.object(name);
  if (given === undefined) top.fail(name, "Required", "is required");
  const fields = top.at(given, `${name}.`);
  fields.known(members);
  return fields;
}
