// Text from outside: made safe to show (one line, without characters that are invisible or move other characters), and read as JSON. No
// zod: workflows import this file.
/** Characters that end a line or move within it. */
const breaks = /[\t-\r\x85\u2028\u2029]+/g;

/** Control characters, characters that change the text direction or have no width, and lone surrogates. */
const hidden = String.raw`[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufff9-\ufffb]`;

/** Scripts with joining letters, whose ordinary words can contain a joiner or a non-joiner. */
const joining =
  "Arabic Syriac Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar"
    .split(" ")
    .map((script) => String.raw`[\p{scx=${script}}--\p{Default_Ignorable_Code_Point}]`)
    .map((letter) => String.raw`(?<=${letter})[\u200c\u200d](?=${letter})`);

/** Invisible characters that are part of ordinary text at this place. */
const kept = [
  // One emoji of two; the look of an emoji, a keycap and a Chinese character.
  String.raw`(?<=\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]?)\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]`,
  String.raw`(?<=[0-9#*])\ufe0f(?=\u20e3)`,
  String.raw`(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
  ...joining,
].join("|");

const removed = new RegExp(`(?=${hidden})(?!${kept}).`, "gsv");

const ellipsis = "…";
const encoder = new TextEncoder();
/** Of UTF-8, for one unit of UTF-16. */
const MOST_BYTES_A_UNIT = 3;

/** Most texts are printable ASCII: they are returned unchanged, in a tenth of the time that the search takes. */
const ASCII_LINE = /^[ -~]*$/;

/**
 * One line without control, bidirectional and zero-width characters; letters of any script, accents and emoji stay as they
 * are. `maxBytes` counts UTF-8: what is longer ends with "…", and is not cut inside a character.
 */
export function plainText(value: string, maxBytes = Infinity): string {
  if (value.length <= maxBytes && ASCII_LINE.test(value)) return value;
  const plain = value.replaceAll(breaks, " ").replaceAll(removed, "");
  const fits = headOf(plain, maxBytes);
  if (fits === plain) return plain;
  const head = headOf(plain, maxBytes - encoder.encode(ellipsis).length);
  return `${head.replaceAll(removed, "")}${ellipsis}`;
}

/** The longest beginning that has at most so many bytes of UTF-8. */
function headOf(text: string, maxBytes: number): string {
  const room = new Uint8Array(Math.min(maxBytes, text.length * MOST_BYTES_A_UNIT));
  return text.slice(0, encoder.encodeInto(text, room).read);
}

/** One word of a command line for a POSIX shell, whatever it holds. */
export function shellWord(value: string): string {
  const plain = plainText(value);
  return /^[\w./:-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", String.raw`'\''`)}'`;
}

/** JSON as it was, with an escape for each character that is not seen. */
export function visibleJson(json: string): string {
  return json
    .replaceAll(/[\u2028\u2029]/g, escapes)
    .replaceAll(removed, (character) => (character === "\n" ? character : escapes(character)));
}

function escapes(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

const CREDENTIAL_NAME = /api[-_.]?key|token|jwt|auth|bearer|secret|password/i;
/** A run of the characters of a JWT. Looking for the whole of one would take a time that grows with the square of the length. */
const JWT_CHARACTERS = /[\w.-]+/g;

/** Whether a query parameter would be a credential, by its name or its value: an address is logged on its way (P1 §5.2, rule 4). */
export const isCredentialName = (name: string): boolean => CREDENTIAL_NAME.test(name);
export const holdsJwt = (value: string): boolean => withoutJwts(value) !== value;

/** The text with `[secret]` in the place of each JWT, up to the end of the run of characters that it stands in. */
export function withoutJwts(text: string): string {
  return text.replaceAll(JWT_CHARACTERS, (run) => {
    const at = run.indexOf("eyJ");
    const parts = at < 0 ? [] : run.slice(at).split(".");
    return parts.length < 3 ? run : `${run.slice(0, at)}[secret]`;
  });
}

/** Parses JSON; a byte order mark of some senders is skipped. */
export function parseJson(text: string): unknown {
  return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
}

/** One line of CSV (RFC 4180) for spreadsheets: no cell is read as a formula. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/** A leading apostrophe makes a cell text; it also protects against spreadsheets that divide cells at semicolons. */
function csvCell(value: string): string {
  const text = plainText(value).replaceAll(/(^|;)(["'\s]*)(?=[=+\-@＝＋－＠])/g, "$1$2'");
  return `"${text.replaceAll('"', '""')}"`;
}

/** `12,004` */
export const count = (value: number) => value.toLocaleString("en");

/** `[=====.....] 50 %` */
export function bar(share: number, width = 30): string {
  const filled = "=".repeat(Math.floor(share * width)).padEnd(width, ".");
  return `[${filled}] ${Math.floor(share * 100)} %`;
}
