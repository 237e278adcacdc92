// Creates a minimal real PDF: one page of text, and a signature field with a correct byte range and no real signature. An
// attached file is embedded unchanged.
const SIGNATURE_HEX_LENGTH = 256;

export interface Attachment {
  name: string;
  bytes: Buffer;
}

const escaped = (text: string) =>
  text.replace(/[^\x20-\x7e]/g, "?").replace(/[\\()]/g, (character) => `\\${character}`);

export function pdf(lines: string[], attachment?: Attachment): Buffer {
  const text = lines.map((line) => `(${escaped(line)}) Tj T*`).join("\n");
  const content = `BT /F1 11 Tf 14 TL 56 780 Td\n${text}\nET`;
  const name = escaped(attachment?.name ?? "");
  const names = attachment ? ` /Names << /EmbeddedFiles << /Names [(${name}) 8 0 R] >> >>` : "";
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] /SigFlags 3 >>${names} >>`,
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Annots [6 0 R] /Resources << /Font << /F1 4 0 R >> >> >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Annot /Subtype /Widget /FT /Sig /T (Sandbox) /Rect [0 0 0 0] /F 132 /P 3 0 R /V 7 0 R >>",
    "<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached /Name (Trustflow sandbox: no real signature) " +
      `/ByteRange [0 0000000000 0000000000 0000000000] /Contents <${"0".repeat(SIGNATURE_HEX_LENGTH)}> >>`,
    // Last, so that nothing within the attached bytes can be mistaken for what is looked for below.
    ...(attachment ? embedded(name, attachment.bytes) : []),
  ];
  let file = "%PDF-1.7\n";
  const offsets: number[] = [];
  objects.forEach((body, index) => {
    offsets.push(file.length);
    file += `${index + 1} 0 obj\n${body}\nendobj\n`;
  });
  const xref = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const offset of offsets) file += `${String(offset).padStart(10, "0")} 00000 n \n`;
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF\n`;
  const from = file.indexOf("/Contents <") + "/Contents ".length;
  const to = from + SIGNATURE_HEX_LENGTH + 2;
  const range = [from, to, file.length - to]
    .map((number) => String(number).padStart(10, "0"))
    .join(" ");
  return Buffer.from(file.replace(/\/ByteRange \[[^\]]*\]/, `/ByteRange [0 ${range}]`), "latin1");
}

function embedded(name: string, bytes: Buffer): string[] {
  return [
    `<< /Type /Filespec /F (${name}) /UF (${name}) /EF << /F 9 0 R >> >>`,
    `<< /Type /EmbeddedFile /Length ${bytes.length} >>\nstream\n${bytes.toString("latin1")}\nendstream`,
  ];
}
