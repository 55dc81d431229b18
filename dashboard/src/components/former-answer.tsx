/** Figures of the question before, which stay while the next answer is on its way: dimmed, unless that is quick. */
import type { ReactNode } from 'react';

interface FormerAnswerProps {
  /** As `isPlaceholderData` of the query. */
  readonly isFormer: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

export function FormerAnswer({ isFormer, className = '', children }: FormerAnswerProps) {
  return (
    <div aria-busy={isFormer} className={`${className} ${isFormer ? 'opacity-60 transition-opacity delay-150' : ''}`}>
      {children}
    </div>
  );
}
