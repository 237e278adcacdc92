// The crash points of `verifyIdentity` (docs/design.md §6).
import { testEveryCrashPoint } from "../../harness/crashes/promise.js";
import { verifyIdentityUnderTest } from "../../processes/verify-identity/under-test.js";

testEveryCrashPoint(verifyIdentityUnderTest);
