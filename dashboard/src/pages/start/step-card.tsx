/** One step of Get started: what to do, and whether it is done. */
import { CircleCheck, CircleDashed, CircleDot, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

export type StepState = 'to do' | 'waiting' | 'done' | 'problem';

const LOOKS = {
  'to do': { icon: CircleDashed, color: 'text-ink-faint' },
  waiting: { icon: CircleDot, color: 'text-accent animate-pulse' },
  done: { icon: CircleCheck, color: 'text-good' },
  problem: { icon: TriangleAlert, color: 'text-bad' },
} as const;

interface StepCardProps {
  readonly number: number;
  readonly title: string;
  readonly state: StepState;
  readonly children: ReactNode;
}

export function StepCard({ number, title, state, children }: StepCardProps) {
  const { icon: Icon, color } = LOOKS[state];
  return (
    <section
      aria-label={title}
      className={`min-w-0 rounded-lg border bg-panel p-4 ${state === 'done' ? 'border-good/60' : state === 'problem' ? 'border-bad/60' : 'border-line'}`}
    >
      <h2 className="mb-3 flex items-center gap-2 text-sm font-semibold">
        <Icon size={18} aria-hidden className={color} />
        {number}. {title}
        <span className="ml-auto text-xs font-normal text-ink-soft">{state}</span>
      </h2>
      {children}
    </section>
  );
}
