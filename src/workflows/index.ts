// The workflow bundle: one export for each process (DESIGN §2).
export { sendPostal } from "./send-postal.js";
