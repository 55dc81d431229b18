/**
 * Amazon Bedrock ids: an inference profile has a geography before the model's id (`eu.amazon.nova-pro-v1:0`). Source:
 * AWS, Bedrock user guide, "Supported Regions and models for inference profiles", November 2026.
 */

/** `global` routes anywhere, the others within their regions. */
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
  /** Null for the model's own id, served in the call's region. */
  readonly geography: string | null;
  readonly base: string;
}

export function readBedrockId(id: string): BedrockId {
  const dot = id.indexOf('.');
  const first = dot === -1 ? '' : id.slice(0, dot).toLowerCase();
  const base = id.slice(dot + 1);
  // A vendor follows a geography: `us.anthropic.claude-…`.
  const next = base.slice(0, Math.max(0, base.indexOf('.'))).toLowerCase();
  if (!BEDROCK_GEOGRAPHIES.has(first) || next === '' || BEDROCK_GEOGRAPHIES.has(next))
    return { geography: null, base: id };
  return { geography: first, base };
}

const VERSION = /-v\d+$/;
const WITH_MINOR = /-v\d+:\d+$/;

/** The ids that one may stand for: `-v1:0` may be left out in part or whole, and so may Claude's vendor. */
export function completeBedrockId(id: string): readonly string[] {
  const { geography, base } = readBedrockId(id);
  const prefix = geography === null ? '' : `${geography}.`;
  const named = base.startsWith('claude-') ? `anthropic.${base}` : base;
  const whole = WITH_MINOR.test(named) ? [] : VERSION.test(named) ? [`${named}:0`] : [`${named}-v1`, `${named}-v1:0`];
  return [named, ...whole].map((name) => `${prefix}${name}`).filter((name) => name !== id);
}
