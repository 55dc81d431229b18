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

const VERSION = /-v\d+$/;
const WITH_MINOR = /-v\d+:\d+$/;

/**
 * The ids that one may stand for. The end of `-v1:0` may be left out, whole or in part, and some write Claude without its
 * vendor: what is declared for the whole id holds for these, too.
 */
export function completeBedrockId(id: string): readonly string[] {
  const { geography, base } = readBedrockId(id);
  const prefix = geography === null ? '' : `${geography}.`;
  const named = base.startsWith('claude-') ? `anthropic.${base}` : base;
  const whole = WITH_MINOR.test(named) ? [] : VERSION.test(named) ? [`${named}:0`] : [`${named}-v1`, `${named}-v1:0`];
  return [named, ...whole].map((name) => `${prefix}${name}`).filter((name) => name !== id);
}
