import { afterEach, expect, test } from "@jest/globals";
import { generateKeyRing } from "../src/crypto/key-ring.js";
import { ConfigurationError, loadConfig, ringOf } from "../src/config.js";

const before = process.env;
afterEach(() => {
  process.env = before;
});

test("a key ring that cannot be read is named, and not shown", () => {
  process.env = { TRUSTFLOW_KEYS__JOURNAL: `${generateKeyRing()},k2:c2hvcnQ=` };
  const read = () => ringOf(loadConfig(), "journal");
  expect(read).toThrow(ConfigurationError);
  expect(read).toThrow(/^Configuration: keys\.journal: key ring, entry 2/);
  expect(read).not.toThrow("c2hvcnQ=");
  expect(() => ringOf(loadConfig(), "codec")).toThrow("keys.codec is required");
});

test("a variable of our prefix that nothing reads is an unknown key", () => {
  process.env = { TRUSTFLOW_STATE: "/tmp" };
  expect(loadConfig).toThrow("unknown key: state");
});

test("metrics are served on an address, or on a port of this machine alone", () => {
  const read = (given: string) => {
    process.env = { TRUSTFLOW_RELAY__METRICS_ADDRESS: given };
    return loadConfig().relay.metricsAddress;
  };
  expect(read("9464")).toBe("127.0.0.1:9464");
  expect(read("0.0.0.0:9464")).toBe("0.0.0.0:9464");
  expect(read("[::1]:9464")).toBe("[::1]:9464");
  for (const wrong of ["localhost", "127.0.0.1:", "http://127.0.0.1:9464"])
    expect(() => read(wrong)).toThrow("relay.metricsAddress: must be host:port");
});
