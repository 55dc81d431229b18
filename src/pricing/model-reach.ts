/**
 * How far a rule that names only a part of a model's id reaches over the rest of it: over dates, and over the forms that
 * the provider documents for its ids, and over nothing else. A word, a number or a version behind a name makes the name
 * of another model, whose price nobody knows; so does anything before it.
 */
import { BEDROCK_GEOGRAPHIES } from './bedrock-id.ts';

/** `before`, `part`, `after`: the id in lower case, cut around what the rule names. */
export type Reach = (before: string, part: string, after: string) => boolean;

const DATE = String.raw`[-@]20\d{6}|-20\d\d-\d\d-\d\d`;
/** Google dates its previews by month and day, or by month and year. */
const PREVIEW_DATE = String.raw`-\d\d-\d\d|-\d\d-20\d\d|-[01]\d[0-3]\d`;

/**
 * `-latest` (Anthropic, OpenAI, Google), a snapshot's date, Google's revisions (`-001`), and previews and experiments
 * with or without a date. Sources: the providers' pages of models, November 2026.
 */
const FORMS = new RegExp(`^(?:-latest|${DATE}|-00\\d|-(?:preview|exp)(?:${PREVIEW_DATE}|${DATE})?)?$`);
/** Behind a name that ends with one of these its date follows at once. */
const PREVIEW_NAME = /-(?:preview|exp|thinking)$/;
const PREVIEW_FORMS = new RegExp(`^(?:-exp)?(?:${PREVIEW_DATE}|${DATE})?$`);
/** Open models are offered by size: `gemma-3-27b-it`, `gemma-3n-e4b-it`. One price for all of a family. */
const GEMMA_SIZES = /^(?:-e?\d{1,3}b(?:-it)?)?$/;
/** `ft:BASE:organisation:name:id`; what stands before the first colon is the base's own date. */
const FINE_TUNED = /^(?:-?(?:\d{4}(?:-\d\d-\d\d)?|\d\d-\d\d))?(?::[^:]*){0,4}$/;
/** Azure's name of a fine-tune: `BASE.ft-` and a number in hexadecimal. */
const AZURE_FINE_TUNED = /^(?:[\da-f]{16,64})?$/;

/** A rule may end in the middle of a date or revision (`claude-sonnet-4-2025`); then the piece belongs to what follows. */
const OPEN_END = /[-@]\d*$/;

function splitOpenEnd(part: string, after: string): { readonly name: string; readonly rest: string } {
  const isOpen = /[-@]$/.test(part) ? after !== '' : /^\d/.test(after);
  const piece = isOpen ? (OPEN_END.exec(part)?.[0] ?? '') : '';
  return { name: part.slice(0, part.length - piece.length), rest: piece + after };
}

function isForm(part: string, after: string): boolean {
  if (part.startsWith('ft:')) return FINE_TUNED.test(after);
  if (part.endsWith('.ft-')) return AZURE_FINE_TUNED.test(after);
  const { name, rest } = splitOpenEnd(part, after);
  if (PREVIEW_NAME.test(name)) return PREVIEW_FORMS.test(rest);
  return name.startsWith('gemma-') ? GEMMA_SIZES.test(rest) : FORMS.test(rest);
}

/** DeepSeek's ids have no dates and no revisions. Source: DeepSeek, models and pricing, November 2026. */
export const reachesNothing: Reach = (before, _part, after) => before === '' && after === '';

export const reachesForms: Reach = (before, part, after) => before === '' && isForm(part, after);

const BEDROCK_VERSION = /(?:-v\d+)?(?::\d+)?$/;
const ENDS_WITH_VERSION = /-v\d+$/;
const HAS_DATE = /-20\d{6}/;
const LEADING_DATE = /^-20\d{6}/;

/** `-v1:0` may be left out, and so may its `:0`. */
function listVersionForms(part: string, id: string): readonly string[] {
  const version = BEDROCK_VERSION.exec(id)?.[0] ?? '';
  const [major = '', minor = '0'] = version.split(':');
  if (ENDS_WITH_VERSION.test(part)) return ['', `:${minor}`];
  return major === '' ? ['', version] : ['', major, `${major}:${minor}`];
}

/** Rules that leave out the vendor are for ids with it, too. */
function isVendor(before: string, part: string, id: string): boolean {
  if (before === '') return true;
  const vendor = id.split('.').findLast((segment, index, segments) => index < segments.length - 1 && isWord(segment));
  return vendor !== undefined && !part.includes('.') && before === `${vendor}.`;
}

function isWord(segment: string): boolean {
  return /^[a-z]/.test(segment) && !BEDROCK_GEOGRAPHIES.has(segment) && segment !== 'regional';
}

/**
 * Amazon's ids end with the version of the model, which is a part of its name: a rule for `amazon.nova-pro-v1:0` says
 * nothing of a `v2`. Which version a rule means stands in the catalogue's own `id`. Geographies are taken off elsewhere.
 */
export function createBedrockReach(catalogId: string): Reach {
  const id = catalogId.toLowerCase();
  return (before, part, after) => {
    if (!isVendor(before, part, id)) return false;
    const rest = HAS_DATE.test(part) ? after : after.replace(LEADING_DATE, '');
    return listVersionForms(part, id).includes(rest);
  };
}
