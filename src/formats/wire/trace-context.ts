/** Headers of distributed tracing: W3C Trace Context and Baggage, and AWS X-Ray's. Null where there is none or it is invalid. */

/** W3C Trace Context, Recommendation of 2021-11-23, 3.2. Later versions may have more parts. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;
/** AWS X-Ray developer guide, "Tracing header": `Root=1-5759e988-bd862e3fe1be46a994272793;Parent=…;Sampled=1`. */
const XRAY_ROOT = /(?:^|;)\s*Root=(1-[\da-f]{8}-[\da-f]{24})\s*(?:;|$)/;
/** W3C Baggage, 3.3.1.2 asks for no more. */
const MAX_BAGGAGE_CHARS = 8_192;

/** The trace id: 32 hexadecimal digits. */
export function readTraceparent(value: string | undefined): string | null {
  return value === undefined ? null : (TRACEPARENT.exec(value.trim())?.[1] ?? null);
}

/** The id of the trace, which all calls of one request have. */
export function readXrayRoot(value: string | undefined): string | null {
  return value === undefined ? null : (XRAY_ROOT.exec(value)?.[1] ?? null);
}

/** The member's value, percent-decoded; its properties are left out. */
export function readBaggage(value: string | undefined, name: string): string | null {
  if (value === undefined || value.length > MAX_BAGGAGE_CHARS) return null;
  for (const member of value.split(',')) {
    const [pair = ''] = member.split(';', 1);
    const at = pair.indexOf('=');
    if (at === -1 || pair.slice(0, at).trim() !== name) continue;
    try {
      return decodeURIComponent(pair.slice(at + 1).trim());
    } catch {
      return null;
    }
  }
  return null;
}
