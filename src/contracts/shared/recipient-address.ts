// An address of a recipient is an e-mail address, or a mobile number in E.164 format (P2 §2.6). No zod: the check of a list of recipients
// imports it too.

export const recipientAddressPattern = /^(?:[^\s@;]+@[^\s@;]+\.[^\s@;]+|\+[1-9]\d{6,14})$/;

export const recipientAddressRule =
  "must be an e-mail address, or a mobile number in E.164 format such as +34600000000 (P2 §2.6)";
