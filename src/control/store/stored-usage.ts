/** The log's column `usage`: reported usage as JSON, and back for pricing, without malformed parts. */
import {
  type ClassQuantities,
  type JsonObject,
  type JsonValue,
  type OtherUsage,
  type ServedTerms,
  type TokenUsage,
  USAGE_CLASSES,
  type UsageClass,
} from '../../vocabulary/token-usage.ts';

/** An object, so that it cannot be mistaken for a usage class. */
function writeSize(largestPrompt: number | undefined): JsonObject {
  return largestPrompt === undefined ? {} : { prompts: { largest: largestPrompt } };
}

function writeOther({ purpose, model, classes, terms, largestPrompt, hasUnknownWrites }: OtherUsage): JsonObject {
  return {
    purpose,
    model,
    classes: { ...classes },
    ...(terms === undefined ? {} : { terms: { ...terms } }),
    ...writeSize(largestPrompt),
    ...(hasUnknownWrites === true ? { unknown_writes: true } : {}),
  };
}

export function writeStoredUsage(usage: TokenUsage): JsonObject {
  const others = usage.others ?? [];
  return {
    ...usage.classes,
    ...(others.length === 0 ? {} : { others: others.map(writeOther) }),
    ...writeSize(usage.largestPrompt),
    ...(usage.pictures === undefined ? {} : { pictures: { ...usage.pictures } }),
    ...(usage.hasUnknownPrompts === true ? { unknown_prompts: true } : {}),
    ...(usage.hasUnknownWrites === true ? { unknown_writes: true } : {}),
    ...(usage.isIncomplete === true ? { incomplete: true } : {}),
    ...(usage.isRefused === true ? { refused: true } : {}),
  };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readText(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function readClasses(stored: JsonValue | undefined): ClassQuantities {
  const classes: Partial<Record<UsageClass, number>> = {};
  if (!isObject(stored)) return classes;
  for (const name of USAGE_CLASSES) {
    const quantity = stored[name];
    if (typeof quantity === 'number') classes[name] = quantity;
  }
  return classes;
}

function readSize(stored: JsonObject): { readonly largestPrompt?: number } {
  const prompts = stored['prompts'];
  const largest = isObject(prompts) ? prompts['largest'] : undefined;
  return typeof largest === 'number' ? { largestPrompt: largest } : {};
}

function readPictures(stored: JsonValue | undefined): Pick<TokenUsage, 'pictures'> {
  if (!isObject(stored)) return {};
  return { pictures: { size: readText(stored['size']), quality: readText(stored['quality']) } };
}

function readTerms(stored: JsonValue | undefined): { readonly terms?: ServedTerms } {
  if (!isObject(stored)) return {};
  const terms = {
    serviceTier: readText(stored['serviceTier']),
    speed: readText(stored['speed']),
    inferenceGeo: readText(stored['inferenceGeo']),
  };
  return { terms };
}

function readUnknownWrites(stored: JsonObject): { readonly hasUnknownWrites?: true } {
  return stored['unknown_writes'] === true ? { hasUnknownWrites: true } : {};
}

function readOther(stored: JsonValue): OtherUsage[] {
  if (!isObject(stored)) return [];
  const other = {
    purpose: readText(stored['purpose']) ?? '',
    model: readText(stored['model']),
    classes: readClasses(stored['classes']),
    ...readTerms(stored['terms']),
    ...readSize(stored),
    ...readUnknownWrites(stored),
  };
  return [other];
}

/** `reasoning` and the provider's own object have columns of their own. */
export function readStoredUsage(
  stored: JsonObject | null,
  { reasoning, native }: { readonly reasoning: number | null; readonly native: JsonObject | null },
): TokenUsage | null {
  if (stored === null) return null;
  const others = Array.isArray(stored['others']) ? stored['others'].flatMap(readOther) : [];
  return {
    classes: readClasses(stored),
    reasoning,
    native: native ?? {},
    ...(others.length === 0 ? {} : { others }),
    ...readSize(stored),
    ...readPictures(stored['pictures']),
    ...(stored['unknown_prompts'] === true ? { hasUnknownPrompts: true } : {}),
    ...readUnknownWrites(stored),
    ...(stored['incomplete'] === true ? { isIncomplete: true } : {}),
    ...(stored['refused'] === true ? { isRefused: true } : {}),
  };
}
