// Collects the field errors of a request body, one entry per field.
export interface FieldError {
  errorCode: string;
  fieldName: string;
  message: string;
}

type Fields = Record<string, unknown>;
type Typed = "string" | "boolean" | "integer" | "array" | "object";

export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value where it is an object, else an empty one. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

const given = (value: unknown) => value !== undefined && value !== null;

function hasType(value: unknown, type: Typed): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

export class Checker {
  readonly errors: FieldError[] = [];
  readonly unknown: string[] = [];
  readonly #fields: Fields;
  readonly #path: string;

  constructor(fields: Fields, path = "", parent?: Checker) {
    this.#fields = fields;
    this.#path = path;
    if (parent) {
      this.errors = parent.errors;
      this.unknown = parent.unknown;
    }
  }

  fail(name: string, errorCode: string, problem: string): undefined {
    const fieldName = this.#path + name;
    if (!this.errors.some((error) => error.fieldName === fieldName)) {
      this.errors.push({ errorCode, fieldName, message: `${fieldName}: ${problem}` });
    }
    return undefined;
  }

  at(fields: unknown, path: string): Checker {
    return new Checker(isObject(fields) ? fields : {}, this.#path + path, this);
  }

  /** Notes the fields that the specification does not know. */
  known(names: readonly string[]): void {
    const known = new Set(names);
    for (const name of Object.keys(this.#fields))
      if (!known.has(name)) this.unknown.push(this.#path + name);
  }

  #value(name: string, type: Typed, article: string): unknown {
    const value = this.#fields[name];
    if (!given(value) || hasType(value, type)) return value ?? undefined;
    return this.fail(name, "InvalidType", `must be ${article} ${type}`);
  }

  text(name: string): string | undefined {
    return this.#value(name, "string", "a") as string | undefined;
  }

  required(name: string, problem = "is required"): string | undefined {
    const value = this.#value(name, "string", "a") as string | undefined;
    if (value === undefined || value.trim() === "") return this.fail(name, "Required", problem);
    return value;
  }

  flag(name: string): boolean {
    return (this.#value(name, "boolean", "a") as boolean | undefined) ?? false;
  }

  requiredFlag(name: string): void {
    if (!given(this.#fields[name])) this.fail(name, "Required", "is required");
    this.flag(name);
  }

  whole(name: string, least: number): number | undefined {
    const value = this.#value(name, "integer", "an") as number | undefined;
    if (value === undefined || value >= least) return value;
    return this.fail(name, "OutOfRange", `must be at least ${least}`);
  }

  list(name: string): unknown[] | undefined {
    return this.#value(name, "array", "an") as unknown[] | undefined;
  }

  object(name: string): Fields | undefined {
    return this.#value(name, "object", "an") as Fields | undefined;
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const value = this.text(name);
    if (value === undefined || (allowed as readonly string[]).includes(value))
      return value as T | undefined;
    return this.fail(name, "InvalidValue", `must be one of ${allowed.join(", ")}`);
  }
}
