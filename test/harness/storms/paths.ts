// The paths of mixed load: those of the descriptor, and the plain one with what happens to callbacks and calls.
import type {
  CallUnderTest,
  ProcessUnderTest,
  Variant,
} from "../../processes/process-under-test.js";

export interface LoadPath {
  name: string;
  variant: Variant;
  outcome: string;
  effects: Record<string, number>;
  call?: CallUnderTest;
}

export function loadPathsOf(underTest: ProcessUnderTest): LoadPath[] {
  const { words, outcome, effects, calls } = underTest;
  const plain = (name: string, more?: string): LoadPath => ({
    name,
    variant: more === undefined ? {} : { words: `${words},${more}` },
    outcome,
    effects,
  });
  const fault = ({ sandbox }: CallUnderTest, kind: string) =>
    plain(kind, `${sandbox.split(".")[1]}=${kind}`);
  const own = calls.filter(({ ask }) => ask === undefined);
  const [first] = own;
  return [
    plain("plain"),
    ...["lost", "doubled", "delayed", "reordered"].map((kind) => plain(kind, `callbacks-${kind}`)),
    ...own.map((call) => fault(call, "reject-503")),
    ...(first ? [fault(first, "cut-after-commit"), fault(first, "error-after-commit")] : []),
    ...calls
      .filter(({ ask }) => ask)
      .map((call) => ({
        name: call.operation,
        variant: call.variant,
        outcome: call.outcome,
        effects: { ...effects, [call.sandbox]: 1 },
        call,
      })),
  ];
}
