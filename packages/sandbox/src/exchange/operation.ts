// What every simulated provider hands to the shared server: its operations, and how it refuses.
import type { Account } from "../engine/accounts.js";
import type { Answer } from "./answer.js";
import type { FaultOptions, FaultRule } from "../engine/faults.js";
import type { Kept } from "./kept.js";

/** A request as it came in; `body` is the parsed JSON, undefined where there is none or it is not JSON. */
export interface Arrival {
  operation: string;
  headers: Record<string, string | string[] | undefined>;
  query: Record<string, string | undefined>;
  params: Record<string, string | undefined>;
  body: unknown;
  /** The parts of a multipart/form-data body. */
  form?: FormPart[] | undefined;
  rawBody: Buffer;
  /** The common name of the client certificate that the connection was made with. */
  clientName?: string | undefined;
}

/** Whose request it is, and what refuses it before it is looked at. */
export interface Admission {
  account?: Account | undefined;
  denial?: Answer | undefined;
  /** The credential that the request does not carry at all: a violation. */
  missing?: string | undefined;
}

export interface Call extends Arrival {
  account: Account;
  /** Virtual time, milliseconds. */
  at: number;
}

/** Whom a request is about, in the caller's own words. */
export interface Description {
  intent: string | null;
  /** By which a fault may be addressed: the caller's own keys, the intent at least. */
  lookupKeys: string[];
  magicKey?: string | undefined;
  magicFaults?: FaultOptions[] | undefined;
}

export interface Ending {
  /** The status that left the sandbox; undefined where the connection was cut. */
  status: number | undefined;
  /** The caller can have read the whole answer, or the token counts as answered. */
  isCached: boolean;
}

export interface Operation {
  name: string;
  /** Method and path, which has parameters as `:name`. */
  route: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "QUERY"} /${string}`;
  /** Where the body makes it another operation: that one's name, in faults and among the requests. */
  other?: { name: string; is(body: unknown): boolean };
  /** Served over mutual TLS alone, else over plain HTTP alone. */
  needsClientCertificate?: boolean;
  /** Where the operation's host has an error shape of its own. */
  refuse?: SandboxProvider["refuse"];
  describe(arrival: Arrival): Description;
  /** After authentication, before any processing: an idempotent replay. */
  begin?(call: Call, description: Description): Answer | undefined;
  perform(call: Call, faults: FaultRule[]): Answer;
  /** `answer` is what the operation answered, undefined where it never ran. */
  end?(call: Call, description: Description, answer: Answer | undefined, ending: Ending): void;
}

export interface Move {
  state: string;
  outcome?: string;
  /** Go on with the planned lifecycle afterwards (default: it ends here). */
  keepPlan?: boolean;
}

export interface Publication {
  /** The affidavit that is published again. */
  regenerates?: string;
  /** It keeps its id (default true). */
  keepsId?: boolean;
  /** It answers this on-demand request. */
  requestId?: string;
}

/** One provider API of the sandbox; a folder beside this file each. */
export interface SandboxProvider {
  name: string;
  operations: Operation[];
  /** It posts events, so that `<name>.callback` may fail too. */
  hasCallbacks?: boolean;
  /** Where else the operation of a path is served. */
  alsoAt?(path: string): string[];
  authenticate(arrival: Arrival): Admission;
  /** In the provider's own error shape; `code` is a fault's number, or the name of what the server refuses. */
  refuse(status: number, code: number | "Sandbox" | "InvalidRequest", message: string): Answer;
  kept: Kept;
  /** Undefined: no such item; a string: why not. */
  move?(id: string, move: Move): Record<string, unknown> | string | undefined;
  publish?(id: string, publication: Publication): Record<string, unknown> | string | undefined;
}

// The parts of a multipart/form-data body, read before an operation sees it.

interface FormPart {
  name: string;
  /** Absent: an ordinary field. */
  fileName?: string;
  bytes: Buffer;
}

/** Undefined where the body is not multipart/form-data, or cannot be read as such. */
export async function formParts(
  contentType: string | undefined,
  rawBody: Buffer,
): Promise<FormPart[] | undefined> {
  if (!contentType?.toLowerCase().startsWith("multipart/form-data")) return undefined;
  const headers = { "content-type": contentType };
  try {
    const form = await new Response(rawBody, { headers }).formData();
    return await Promise.all(
      [...form].map(async ([name, value]) =>
        typeof value === "string"
          ? { name, bytes: Buffer.from(value) }
          : { name, fileName: value.name, bytes: Buffer.from(await value.arrayBuffer()) },
      ),
    );
  } catch {
    return undefined;
  }
}
