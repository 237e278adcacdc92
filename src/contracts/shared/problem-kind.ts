// Why a provider call did not bring what was asked: of the provider layer's errors, and of the failures made of them (docs/design.md §5).
export type ProblemKind =
  | "invalidRequest"
  | "accessDenied"
  | "rateLimited"
  | "unavailable"
  | "unknownOutcome"
  | "notVisibleYet"
  | "protocol";
