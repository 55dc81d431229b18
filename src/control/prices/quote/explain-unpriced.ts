/** Finds why a part has no price by asking the price book again under easier terms. */
import { readBedrockId } from '../../../pricing/bedrock-id.ts';
import type { BillableCall, PriceCall } from '../../../pricing/billable-call.ts';
import { readBillingModel, readBillingTerms } from '../../../pricing/billing-terms.ts';
import { MAX_QUANTITY } from '../../../pricing/cost-lines.ts';
import { STANDARD_PLACE } from '../../../pricing/place.ts';
import {
  CACHE_WRITES,
  type ClassQuantities,
  type OtherUsage,
  TOOL_CLASSES,
  USAGE_CLASSES,
  type UsageClass,
} from '../../../vocabulary/token-usage.ts';

export interface UnpricedClass {
  readonly class: UsageClass;
  readonly quantity: number;
  readonly model?: string;
  readonly purpose?: string;
  readonly reason: string;
}

type PricedTerm = Pick<BillableCall, 'serviceTier' | 'speed' | 'inferenceGeo' | 'region' | 'isBatch'>;
const STANDARD: PricedTerm = { serviceTier: null, speed: null, inferenceGeo: null, region: null, isBatch: false };

function describeTerms(call: BillableCall): string {
  const { serviceTier, speed, inferenceGeo, place } = readBillingTerms(call, readBillingModel(call));
  const terms = [
    [serviceTier, 'service tier'],
    [speed, 'speed'],
    [inferenceGeo, 'inference geo'],
    [place.names.includes(STANDARD_PLACE) ? STANDARD_PLACE : place.name, 'a call served at'],
  ].filter(([value]) => value !== 'standard');
  return terms.map(([value, name]) => `${name} ${value}`).join(' with ');
}

function withoutGeography(call: BillableCall): Pick<BillableCall, 'modelRequested'> {
  const { provider, modelRequested } = call;
  const isProfile = provider === 'bedrock' && modelRequested !== null;
  return { modelRequested: isProfile ? readBedrockId(modelRequested).base : modelRequested };
}

/** Asks for this quantity of this class alone. */
function hasPrice(priceCall: PriceCall, call: BillableCall, unit: UsageClass, quantity: number): boolean {
  const pictures = call.usage?.pictures;
  const usage = {
    classes: { [unit]: quantity },
    reasoning: null,
    native: {},
    ...(pictures === undefined ? {} : { pictures }),
  };
  return priceCall({ ...call, usage, usageSource: 'provider' }).lines.length > 0;
}

function explain(priceCall: PriceCall, call: BillableCall, unit: UsageClass, quantity: number, nowMs: number): string {
  if (quantity > MAX_QUANTITY) return 'no answer reports as much';
  const model = readBillingModel(call);
  if (model === null) return 'the call names no model';
  const isPriced = (asked: BillableCall) => hasPrice(priceCall, asked, unit, quantity);
  // A profile of another geography has it in its id; without it the id is the model's own.
  const standard = { ...call, ...STANDARD, ...withoutGeography(call) };
  if (isPriced(call)) return 'its price depends on the length of the prompt, and none is declared for this one';
  if (isPriced(standard)) return `no price is declared for ${describeTerms(call)}`;
  if (isPriced({ ...standard, requestedAtMs: nowMs })) return 'there is a price of today, and none of that time';
  const isKnown = USAGE_CLASSES.some(
    (other) => !TOOL_CLASSES.includes(other) && hasPrice(priceCall, standard, other, 1),
  );
  if (!isKnown) return `the price book does not know ${model} at ${call.provider}`;
  return `the price book has no rate of ${model} for it`;
}

const OPEN_WRITES =
  'the answer does not say at which rate: for how long it is cached, or how much of it a fallback credit bills as read';

/** A quantity without a line of its class has no price. */
export function listUnpriced(priceCall: PriceCall, call: BillableCall, nowMs: number): readonly UnpricedClass[] {
  const { usage } = call;
  if (usage === null) return [];
  const { lines, costStatus } = priceCall(call);
  if (costStatus === 'not_billed') return [];
  const own = (classes: ClassQuantities, other: OtherUsage | null): readonly UnpricedClass[] =>
    USAGE_CLASSES.flatMap((unit) => {
      const quantity = classes[unit] ?? 0;
      const isPriced = lines.some(
        (line) =>
          line.class === unit &&
          line.purpose === other?.purpose &&
          (other === null || other.model === null || line.model === other.model),
      );
      if (quantity === 0 || isPriced) return [];
      const asked =
        other === null
          ? call
          : {
              ...call,
              ...other.terms,
              model: other.model ?? call.model,
              modelRequested: other.model ?? call.modelRequested,
            };
      const isOpen = (other ?? usage).hasUnknownWrites === true && CACHE_WRITES.includes(unit);
      const reason = isOpen ? OPEN_WRITES : explain(priceCall, asked, unit, quantity, nowMs);
      if (other === null) return [{ class: unit, quantity, reason }];
      const model = other.model ?? readBillingModel(call);
      return [{ class: unit, quantity, ...(model === null ? {} : { model }), purpose: other.purpose, reason }];
    });
  return [...own(usage.classes, null), ...(usage.others ?? []).flatMap((other) => own(other.classes, other))];
}
