/** The words of the brakes for people. */
import type { BrakeRule } from '../../api/brakes.ts';

const RULE_NAMES: Readonly<Record<string, string>> = {
  spend_speed: 'Speed of spending',
  call_rate: 'Calls a minute',
  same_prefix: 'Same conversation',
  same_tool_call: 'Same tool call',
  cache_collapse: 'Cache not read any more',
  retries: 'Retries of one request',
  unpriced: 'Calls without a price',
  by_hand: 'By hand',
};

export function nameRule(rule: string): string {
  return RULE_NAMES[rule] ?? rule;
}

export const ACTION_CHOICES: readonly { readonly value: BrakeRule['action']; readonly label: string }[] = [
  { value: 'off', label: 'Nothing' },
  { value: 'alarm', label: 'Raise an alarm' },
  { value: 'pause', label: 'Raise an alarm and pause' },
];

export function nameAction(action: BrakeRule['action']): string {
  return ACTION_CHOICES.find(({ value }) => value === action)?.label ?? action;
}
