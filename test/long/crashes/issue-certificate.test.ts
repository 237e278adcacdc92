// The crash points of `issueCertificate` (docs/design.md §6).
import { testEveryCrashPoint } from "../../support/crash-promise.js";
import { issueCertificateUnderTest } from "../../support/issue-certificate-under-test.js";

testEveryCrashPoint(issueCertificateUnderTest);
