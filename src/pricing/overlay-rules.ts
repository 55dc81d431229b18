/**
 * Price rules of the providers that hold for many models: multipliers for the terms of a call, classes billed at the
 * rate of another class, and names that stand for another model. Each is declared by its provider; none is a guess.
 * They stand in `price-data/`.
 */
import type { UsageClass } from '../token-usage.ts';
import { OVERLAY_DATA } from './overlay-data.ts';
import { readSourced, type Sourced } from './price-data.ts';

/** The terms of a call that can change its price. */
export type TermName = 'serviceTier' | 'speed' | 'inferenceGeo' | 'place';

/** On these terms, these classes cost their standard rate times the factor. */
export interface MultiplierRule extends Sourced {
  readonly term: TermName;
  readonly value: string;
  readonly factor: string;
  readonly units: readonly UsageClass[];
}

/** A class without a rate of its own is billed at a factor of another class's rate. */
export interface DerivedRule extends Sourced {
  readonly units: readonly UsageClass[];
  readonly of: UsageClass;
  readonly factor: string;
}

/** From this time on the name is served by, and billed as, the other model. */
export interface AliasRule extends Sourced {
  readonly model: string;
}

export const MULTIPLIER_RULES: readonly MultiplierRule[] = OVERLAY_DATA.flatMap((data) =>
  data.multipliers.map((rule) => {
    const { term, value, factor, classes } = rule;
    return { ...readSourced(data, rule), term, value, factor, units: classes };
  }),
);

export const DERIVED_RULES: readonly DerivedRule[] = OVERLAY_DATA.flatMap((data) =>
  data.derived.map((rule) => {
    const { classes, of, factor } = rule;
    return { ...readSourced(data, rule), units: classes, of, factor };
  }),
);

export const ALIAS_RULES: readonly AliasRule[] = OVERLAY_DATA.flatMap((data) =>
  data.aliases.map((rule) => ({ ...readSourced(data, rule), model: rule.model })),
);
