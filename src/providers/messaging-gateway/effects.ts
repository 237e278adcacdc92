// P1 §4.3.
import type { EffectClasses } from "../effect-classes.js";

export const effects = { send: "once" } as const satisfies EffectClasses;
