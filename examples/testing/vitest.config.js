export default { test: { dir: "vitest" } };
