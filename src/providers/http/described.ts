// Describes the body of a success as the specification does, and says whether an answer is that (docs/reading-the-specification.md §1).
// Every call declares it; an answer that is something else, such as the web page of a proxy, is no success.
import { z } from "zod";
import { parseJson } from "../../contracts/shared/text.js";
import type { MismatchKind } from "../errors/provider-error.js";
import type { HttpAnswer, KeptFile } from "./exchange.js";
import { AMBIGUOUS, spelled } from "./spelling.js";
import type { Spelling } from "./spelling.js";

/** An answer that is not the described one. It holds our own words, names of our schemas and a media type; never a value. */
export class AnswerMismatch {
  readonly kind: MismatchKind;
  /** Says what came: "text/html instead of JSON". */
  readonly text: string;
  /** The member that is missing or wrong. */
  readonly member: string | undefined;

  constructor(kind: MismatchKind, text: string, member?: string) {
    this.kind = kind;
    this.text = text;
    this.member = member;
  }
}

export interface Described<T> {
  read(answer: HttpAnswer): T | AnswerMismatch;
  /** The body may hold a secret: the error of a wrong one shows nothing of it. */
  isSecret?: boolean;
  /** The id that a wrong body shows nevertheless. */
  reference?(answer: HttpAnswer): string | undefined;
  /** The most bytes that are read, where they may be more than those of any other answer. */
  maxBytes?: number;
}

/** Limits JSON that holds a list, or files. */
export const LONG_JSON_BYTES = 128 * 1024 * 1024;

interface JsonOptions extends Omit<Described<unknown>, "read"> {
  /** How members and words may be spelled that the specification does not show. */
  spelling?: Spelling;
}

export function json<T extends z.ZodType>(
  schema: T,
  { spelling, ...more }: JsonOptions = {},
): Described<z.infer<T>> {
  return {
    ...more,
    read(answer) {
      if (isEmpty(answer)) return new AnswerMismatch("empty", "without a body");
      return readJson(answer, schema, { what: "JSON", spelling }).data;
    },
  };
}

/** Where the specification shows no body: nothing, or JSON that reports no error. */
export function jsonOrEmpty<T extends z.ZodType>(
  schema: T,
  { spelling, ...more }: JsonOptions = {},
): Described<z.infer<T> | undefined> {
  return {
    ...more,
    read(answer) {
      if (isEmpty(answer)) return undefined;
      const { data, error } = readJson(answer, schema, { what: "JSON or nothing", spelling });
      return error ?? data;
    },
  };
}

/** Where the specification shows no body, and nothing of it is needed. */
export const open = jsonOrEmpty(z.unknown());

/** Where the specification says that the body is empty. */
export const empty: Described<void> = {
  read: (answer) =>
    isEmpty(answer)
      ? undefined
      : new AnswerMismatch("notEmpty", `with ${nameOf(answer)} instead of nothing`),
};

/**
 * A file that the request's `keepIn` keeps; undefined for an empty body, which means that the file does not exist yet. Whether the bytes are
 * such a file is for the caller to check. `mayBePage`: the file may be a web page itself, where its media type is right.
 */
export function keptFile(
  what: string,
  isRightType: (mediaType: string) => boolean,
  { mayBePage = false } = {},
): Described<KeptFile | undefined> {
  return {
    read(answer) {
      if (isEmpty(answer)) return undefined;
      // None was asked for, and none is decoded: these bytes are not the file.
      const coding = answer.headers["content-encoding"] || "identity";
      if (coding.toLowerCase() !== "identity")
        return new AnswerMismatch("mediaType", `in a content coding instead of ${what}`);
      const type = mediaTypeOf(answer);
      const isFile = mayBePage && type !== undefined && isRightType(type);
      const isPage = !isFile && isWebPage(answer);
      if (!isPage && (type === undefined || isRightType(type))) return answer.kept;
      const kind = isPage ? "webPage" : "mediaType";
      return new AnswerMismatch(kind, `with ${nameOf(answer)} instead of ${what}`);
    },
  };
}

/** `error`: what an object reports under `error` or `errors`. */
function readJson<T extends z.ZodType>(
  answer: HttpAnswer,
  schema: T,
  { what, spelling }: { what: string; spelling: Spelling | undefined },
): { data: z.infer<T> | AnswerMismatch; error?: AnswerMismatch | undefined } {
  const type = mediaTypeOf(answer);
  if (type !== undefined && !isJsonType(type))
    return { data: new AnswerMismatch("mediaType", `with ${nameOf(answer)} instead of ${what}`) };
  const value = jsonOf(answer.body);
  if (value === undefined && isWebPage(answer))
    return { data: new AnswerMismatch("webPage", `with a web page instead of ${what}`) };
  if (value === undefined)
    return { data: new AnswerMismatch("notJson", "with a body that is no JSON") };
  const ours = spelling ? spelled(value, spelling) : value;
  const result = schema.safeParse(ours, { reportInput: true });
  const error = errorIn(value);
  return result.success
    ? { data: result.data, error }
    : { data: error ?? shapeMismatch(result.error) };
}

const MAX_ISSUES = 3;

/** Names the members of our own schema that are missing or wrong. */
function shapeMismatch({ issues }: z.ZodError): AnswerMismatch {
  const found = issues.slice(0, MAX_ISSUES).map((issue) => {
    const path = issue.path.join(".");
    const name = path === "" ? "the body" : `\`${path}\``;
    if (issue.input === AMBIGUOUS) return `${name} is present twice, with different values`;
    if (issue.input === undefined) return `${name} is missing`;
    if (issue.code === "invalid_type") return `${name} is no ${issue.expected}`;
    if (issue.code === "invalid_value") return `${name} is none of ${issue.values.join(", ")}`;
    return issue.code === "custom" ? `${name} ${issue.message}` : `${name} is not as described`;
  });
  const more = issues.length > MAX_ISSUES ? `, and ${issues.length - MAX_ISSUES} more` : "";
  const member = issues[0]?.path.filter((part) => typeof part === "string").join(".");
  return new AnswerMismatch("shape", `with JSON in which ${found.join(", ")}${more}`, member);
}

function errorIn(value: unknown): AnswerMismatch | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const members = value as Record<string, unknown>;
  if (["type", "code", "message"].every((member) => Object.hasOwn(members, member)))
    return new AnswerMismatch("error", "with the object of an error (P1 §2.8)");
  if (members["success"] === false)
    return new AnswerMismatch("error", "with JSON that reports no success", "success");
  const name = ["error", "errors"].find(
    (one) => Object.hasOwn(members, one) && isSome(members[one]),
  );
  return name === undefined
    ? undefined
    : new AnswerMismatch("error", `with JSON that reports an error in \`${name}\``, name);
}

function isSome(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  return Object.keys(value).length > 0;
}

/** Without its parameters, in lower case; undefined where the answer names none. */
export function mediaTypeOf({ headers }: Pick<HttpAnswer, "headers">): string | undefined {
  const [type = ""] = (headers["content-type"] ?? "").split(";");
  return type.trim().toLowerCase() || undefined;
}

export function isJsonType(mediaType: string): boolean {
  return /^(application|text)\/([\w.-]+\+)?json$/.test(mediaType);
}

/** Says what came, and nothing of it but its media type. */
function nameOf(answer: HttpAnswer): string {
  const type = mediaTypeOf(answer);
  if (type !== "text/html" && isWebPage(answer)) return "a web page";
  if (type === undefined) return "a body";
  return /^[a-z]{1,20}\/[\w.+-]{1,60}$/.test(type) ? type : "another media type";
}

export function isWebPage({ body }: Pick<HttpAnswer, "body">): boolean {
  return /^\s*(<\?xml[^>]*>\s*)?<(!doctype\s+)?html\b/i.test(body.toString("utf8", 0, 500));
}

function isEmpty({ body }: HttpAnswer): boolean {
  return body.length < 10 && body.toString("utf8").trim() === "";
}

/** Undefined for what is no JSON; a byte-order mark is left out. */
export function jsonOf(body: Buffer): unknown {
  try {
    return parseJson(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** The words of an error that are as its schema describes them. */
export function errorWords<S extends z.ZodType>(
  described: S,
  { body }: HttpAnswer,
): Partial<z.infer<S>> {
  return described.safeParse(jsonOf(body)).data ?? {};
}

/** By its magic bytes, which may stand anywhere in the first kilobyte. */
export function isPdf(bytes: Buffer): boolean {
  return bytes.subarray(0, 1024).includes("%PDF-");
}
