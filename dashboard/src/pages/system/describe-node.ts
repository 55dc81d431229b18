/** What is to be said of a node, in words. Pure. */
import type { NodeList } from '../../../../src/control/admin/nodes-resource.ts';
import { formatDuration } from '../../../../src/vocabulary/format-amounts.ts';

type Node = NodeList['data'][number];

const MAX_SKEW_MS = 120_000;
const DAY_MS = 86_400_000;

export function describeClock(skewMs: number): string {
  const size = Math.abs(skewMs);
  if (size < 1_000) return 'right';
  const text = size >= 2 * DAY_MS ? `${Math.round(size / DAY_MS)} days` : formatDuration(size);
  return `${text} ${skewMs > 0 ? 'ahead' : 'behind'}`;
}

export function describeRemarks(node: Node): string {
  const remarks: string[] = [];
  if (node.state === 'silent') remarks.push('no sign of life; see docs/node-gone.md');
  if (node.state === 'live' && Math.abs(node.clock_skew_ms) > MAX_SKEW_MS)
    remarks.push('its clock is wrong by the database’s, so it deletes nothing');
  if (node.clock_stepped_at !== null) remarks.push('its clock has jumped');
  if (node.is_doubled) remarks.push('two gateways say that they are this node: a data directory was copied');
  if (node.differing_settings.length > 0)
    remarks.push(`started with another ${node.differing_settings.join(', ')} than all nodes have`);
  return remarks.length === 0 ? '—' : `${remarks.join('; ')}.`;
}
