// The crash points of `signOneShot` (DESIGN §6).
import { testEveryCrashPoint } from "../../support/crash-promise.js";
import { signOneShotUnderTest } from "../../support/sign-one-shot-under-test.js";

testEveryCrashPoint(signOneShotUnderTest);
