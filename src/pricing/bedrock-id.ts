/**
 * An id of Amazon Bedrock: an inference profile has the geography before the model's own id (`eu.amazon.nova-pro-v1:0`).
 * Source: AWS, Bedrock user guide, "Supported Regions and models for inference profiles", November 2026.
 */

/** `global` routes anywhere; the others stay within their regions. */
export const BEDROCK_GEOGRAPHIES: ReadonlySet<string> = new Set([
  'global',
  'us',
  'us-gov',
  'eu',
  'apac',
  'jp',
  'au',
  'ca',
  'in',
]);

export interface BedrockId {
  /** Null: the id of the model itself, served in the region of the call. */
  readonly geography: string | null;
  /** The model's own id. */
  readonly base: string;
}

export function readBedrockId(id: string): BedrockId {
  const dot = id.indexOf('.');
  const first = dot === -1 ? '' : id.slice(0, dot).toLowerCase();
  const base = id.slice(dot + 1);
  // Behind a geography a vendor follows: `us.anthropic.claude-…`.
  const next = base.slice(0, Math.max(0, base.indexOf('.'))).toLowerCase();
  if (!BEDROCK_GEOGRAPHIES.has(first) || next === '' || BEDROCK_GEOGRAPHIES.has(next))
    return { geography: null, base: id };
  return { geography: first, base };
}
