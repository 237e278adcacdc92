// A list of recipients (P2 §2.9): a CSV with `;`. The file stays as it came; of each row only its place is kept beside it, so
// that a list of a hundred thousand is in memory once.

export interface Recipient {
  address: string;
  legalname: string;
  /** The other columns that have a value, by their names. */
  columns: Record<string, string>;
  /** The columns whose name begins with `*`, without the star. */
  extraFields: Record<string, string>;
}

const mandatory = ["address", "legalname"];
const optional = [
  "lookupkey",
  "displayname",
  "custodychallenge",
  "custodychallengeresponse",
  "deliverychallenge",
  "deliverychallengeresponse",
  "deliveryotpchannel",
  "deliveryotpaddress",
];

const [LF, CR, QUOTE] = [0x0a, 0x0d, 0x22];

export class RecipientList {
  readonly bytes: Buffer;
  readonly columns: string[];
  /** Where each row begins, and where the last one ends. */
  readonly #starts: number[];

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    const starts = rowStarts(bytes);
    this.columns = fieldsOf(bytes.toString("utf8", 0, starts[1] ?? bytes.length));
    this.#starts = starts.slice(1);
  }

  get size(): number {
    return Math.max(0, this.#starts.length - 1);
  }

  at(row: number): Recipient {
    const [start, end] = [this.#starts[row], this.#starts[row + 1]];
    const fields = fieldsOf(this.bytes.toString("utf8", start, end));
    const recipient: Recipient = { address: "", legalname: "", columns: {}, extraFields: {} };
    this.columns.forEach((name, index) => {
      const value = fields[index] ?? "";
      if (name === "address" || name === "legalname") recipient[name] = value;
      else if (value === "") return;
      else if (name.startsWith("*")) recipient.extraFields[name.slice(1)] = value;
      else recipient.columns[name] = value;
    });
    return recipient;
  }

  /** What is wrong with the list as a whole or with its first bad row; undefined where nothing is. */
  problem(isAddress: (text: string) => boolean): string | undefined {
    const missing = mandatory.filter((name) => !this.columns.includes(name));
    if (missing.length > 0) return `missing mandatory columns: ${missing.join(", ")}`;
    if (new Set(this.columns).size < this.columns.length) return "a column stands there twice";
    if (this.size === 0) return "the list has no recipients";
    for (let row = 0; row < this.size; row += 1) {
      const { address, legalname } = this.at(row);
      if (!isAddress(address))
        return `row ${row + 1}: address is no e-mail address or E.164 number`;
      if (legalname.trim() === "") return `row ${row + 1}: legalname is missing`;
    }
    return undefined;
  }

  /** Columns that the specification does not know. */
  unknownColumns(): string[] {
    return this.columns.filter(
      (name) => ![...mandatory, ...optional].includes(name) && !name.startsWith("*"),
    );
  }
}

/** Where each line begins that is not empty, the header's first, and where the last one ends. */
function rowStarts(bytes: Buffer): number[] {
  const starts: number[] = [];
  let [begin, isQuoted, isEmpty] = [0, false, true];
  for (let place = 0; place < bytes.length; place += 1) {
    const byte = bytes[place];
    if (byte === QUOTE) isQuoted = !isQuoted;
    if (byte === LF && !isQuoted) {
      if (!isEmpty) starts.push(begin);
      [begin, isEmpty] = [place + 1, true];
    } else if (byte !== CR) isEmpty = false;
  }
  if (!isEmpty) starts.push(begin);
  return [...starts, bytes.length];
}

/** The fields of one row; a quoted one may hold `;`, line ends and doubled quotes. */
function fieldsOf(row: string): string[] {
  const text = `;${row.replace(/[\r\n]+$/, "")}`;
  const fields: string[] = [];
  for (const match of text.matchAll(/;(?:"((?:[^"]|"")*)"|([^;]*))/g))
    fields.push(match[1] === undefined ? (match[2] ?? "") : match[1].replaceAll('""', '"'));
  return fields;
}
