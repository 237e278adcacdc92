// What a simulation reports, as data and as words.
export interface Violation {
  /** The rule, of which the shrinking keeps one. */
  rule: string;
  detail: string;
  /** Virtual time. */
  at: string;
}

export interface Report {
  seed: number;
  /** Of everything that happened, in order. */
  hash: string;
  processes: number;
  /** Over all processes, from the start to the end of each. */
  virtualYears: number;
  /** How often each kind of fault struck. */
  faults: Record<string, number>;
  /** How often each rule was checked. */
  checks: Record<string, number>;
  outcomes: Record<string, number>;
  /** Of processor time, from the start of its Node process. */
  seconds: number;
  violations: Violation[];
  story: { at: string; text: string }[];
}

export type Whole = Omit<Report, "seed" | "hash" | "story"> & {
  seeds: number;
  /** Years that processes have lived, for each hour of processor time. */
  yearsPerCpuHour: number;
  seed?: number;
  hash?: string;
};

const HOUR_SECONDS = 3_600;

/** `ownSeconds`: the processor time of the process that ran them. */
export function addUp(reports: Report[], ownSeconds: number): Whole {
  const sum = (of: (report: Report) => number) =>
    reports.reduce((all, report) => all + of(report), 0);
  const counts = (of: (report: Report) => Record<string, number>) => {
    const all: Record<string, number> = {};
    for (const report of reports)
      for (const [name, count] of Object.entries(of(report))) all[name] = (all[name] ?? 0) + count;
    return Object.fromEntries(
      Object.entries(all).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
  };
  const [first] = reports;
  const virtualYears = sum((report) => report.virtualYears);
  const seconds = sum((report) => report.seconds) + ownSeconds;
  return {
    seeds: reports.length,
    ...(reports.length === 1 && first && { seed: first.seed, hash: first.hash }),
    processes: sum(({ processes }) => processes),
    virtualYears: Math.round(virtualYears * 100) / 100,
    faults: counts(({ faults }) => faults),
    checks: counts(({ checks }) => checks),
    outcomes: counts(({ outcomes }) => outcomes),
    seconds: Math.round(seconds),
    yearsPerCpuHour: Math.round((virtualYears * HOUR_SECONDS * 10) / seconds) / 10,
    violations: reports.flatMap(({ violations }) => violations),
  };
}

export function tableOf({ violations, ...whole }: Whole): string {
  const shown = Object.entries({ ...whole, violations: violations.length });
  const lines = shown.map(
    ([name, value]) => `${name.padEnd(17)}${typeof value === "object" ? inWords(value) : value}`,
  );
  const broken = violations.map(({ rule, detail, at }) => `${at}  ${rule}: ${detail}`);
  return [...lines, ...broken].join("\n");
}

/** Of processor time that this process has had. */
export function secondsHere(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

const inWords = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");

const inSeconds = (at: string) => at.slice(0, 19).replace("T", " ");

/** Who did what, at which virtual time; the newest lines of a long one. */
export function storyOf({ story, violations }: Report, lines: number): string {
  const told = story.map(({ at, text }) => `${inSeconds(at)}  ${text}`);
  const left = told.length - lines;
  return [
    ...(left > 0 ? [`(${left} earlier lines are left out)`] : []),
    ...told.slice(-lines),
    ...violations
      .slice(0, 3)
      .map(({ rule, detail, at }) => `${inSeconds(at)}  VIOLATED: ${rule}: ${detail}`),
  ].join("\n");
}
