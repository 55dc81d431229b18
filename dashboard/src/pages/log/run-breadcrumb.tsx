/** Where a call stands in its run: the run, the steps above it, its own name; and the calls before and after it. */
import { Link } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { decodeSpanKey } from '../../../../src/control/log/span-path.ts';
import type { LogDetail } from '../../api/logs.ts';
import { shortenTraceId } from './shorten-trace-id.ts';

interface NeighbourProps {
  readonly id: string | null | undefined;
  readonly label: string;
  readonly icon: typeof ChevronLeft;
  /** Shows the neighbour in place; without it the neighbour is a page. */
  readonly onShow: ((id: string) => void) | undefined;
}

const NEIGHBOUR = 'inline-flex size-6 items-center justify-center rounded text-ink-soft hover:bg-raised hover:text-ink';

function Neighbour({ id, label, icon: Icon, onShow }: NeighbourProps) {
  if (id === null || id === undefined) return null;
  if (onShow !== undefined)
    return (
      <button type="button" aria-label={label} title={label} className={NEIGHBOUR} onClick={() => onShow(id)}>
        <Icon size={15} aria-hidden />
      </button>
    );
  return (
    <Link to="/log/$id" params={{ id }} aria-label={label} title={label} className={NEIGHBOUR}>
      <Icon size={15} aria-hidden />
    </Link>
  );
}

interface RunBreadcrumbProps {
  readonly log: LogDetail;
  readonly onShow: ((id: string) => void) | undefined;
}

export function RunBreadcrumb({ log, onShow }: RunBreadcrumbProps) {
  const { trace_id: trace, id, span_key: spanKey, span_name: spanName } = log;
  if (trace === null) return null;
  const steps = spanKey === null ? [] : decodeSpanKey(spanKey);
  return (
    <nav aria-label="Run of this call" className="flex min-w-0 flex-wrap items-center gap-x-1.5 text-ink-soft">
      <Link
        to="/run"
        search={{ trace, sel: id }}
        title={trace}
        className="inline-flex min-h-6 items-center font-mono text-xs text-accent underline-offset-4 hover:underline"
      >
        {shortenTraceId(trace)}
      </Link>
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a path may have the same name twice
        <span key={index} className="inline-flex max-w-48 min-w-0 items-center gap-1.5">
          <span aria-hidden>/</span>
          <span className="truncate" title={step}>
            {step}
          </span>
        </span>
      ))}
      {spanName !== null && (
        <span className="inline-flex max-w-64 min-w-0 items-center gap-1.5 text-ink">
          <span aria-hidden>/</span>
          <span className="truncate" title={spanName}>
            {spanName}
          </span>
        </span>
      )}
      <span className="ml-1 inline-flex">
        <Neighbour id={log.previous_id} label="Call before it in the run" icon={ChevronLeft} onShow={onShow} />
        <Neighbour id={log.next_id} label="Call after it in the run" icon={ChevronRight} onShow={onShow} />
      </span>
    </nav>
  );
}
