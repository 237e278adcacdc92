// The checks of recipient and issuer address (P2 §2.2, §8).
import type { Account } from "../../engine/accounts.js";
import type { Checker } from "../../exchange/checker.js";
import type { ServiceType } from "./options-check.js";

export interface PostalAddress {
  StreetAddress: string;
  PostalCode: string;
  Locality: string;
  Region?: string;
  Country: string;
}

const addressNames = [
  "StreetAddress",
  "PostalCode",
  "Locality",
  "Region",
  "Country",
  "PostOfficeBoxAddress",
];
/** Balearic Islands, Las Palmas, Tenerife, Ceuta, Melilla: assumed to be what "mainland Spain" leaves out (P2 §2.3). */
const offMainland = ["07", "35", "38", "51", "52"];

/** P2 §2.2, and §8: destinations within Spain. */
export function checkAddresses(
  top: Checker,
  body: Record<string, unknown>,
  account: Account,
  service: ServiceType,
): PostalAddress | undefined {
  const recipient = body["RecipientAddress"] ?? undefined;
  if (recipient === undefined) top.fail("RecipientAddress", "Required", "is required");
  const to = top.object("RecipientAddress") && checkAddress(top.at(recipient, "RecipientAddress."));
  const issuer = top.object("IssuerAddress");
  const from = issuer && checkAddress(top.at(issuer, "IssuerAddress."));
  if (to?.Country && to.Country !== "ES") {
    top.fail(
      "RecipientAddress.Country",
      "NotServed",
      "physical delivery is available within Spain only",
    );
  }
  if (service === "Registered") {
    if (to && !to.Region)
      top.fail("RecipientAddress.Region", "Required", "is required for Registered");
    if (!from?.Region && !account.site.region) {
      top.fail(
        "IssuerAddress.Region",
        "Required",
        "is required for Registered: the site address has none",
      );
    }
  }
  if (service === "LetterLite" && offMainland.includes((to?.PostalCode ?? "").slice(0, 2))) {
    top.fail("RecipientAddress.PostalCode", "NotServed", "LetterLite goes to mainland Spain only");
  }
  return to as PostalAddress | undefined;
}

function checkAddress(address: Checker): Partial<PostalAddress> {
  address.known(addressNames);
  address.text("PostOfficeBoxAddress");
  const Region = address.text("Region")?.trim();
  const country = address.required("Country");
  if (country !== undefined && !/^[A-Z]{2}$/.test(country)) {
    address.fail("Country", "InvalidCountry", "must be an ISO 3166-1 alpha-2 code");
  }
  const checked = {
    StreetAddress: address.required("StreetAddress"),
    PostalCode: address.required("PostalCode"),
    Locality: address.required("Locality"),
    Country: country,
    Region: Region === "" ? undefined : Region,
  };
  return Object.fromEntries(Object.entries(checked).filter(([, value]) => value !== undefined));
}
