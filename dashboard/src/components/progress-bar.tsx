/** A bar that fills; when nobody knows how much there is, it only shows that something goes on. */

interface ProgressBarProps {
  readonly label: string;
  /** 0..100; null when it is not known. */
  readonly percent: number | null;
}

export function ProgressBar({ label, percent }: ProgressBarProps) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(percent === null ? {} : { 'aria-valuenow': percent })}
      className="h-2 w-48 max-w-full overflow-hidden rounded-full border border-line-strong bg-surface"
    >
      <div
        className={`h-full bg-bar ${percent === null ? 'animate-pulse' : 'transition-[width]'}`}
        style={{ width: `${percent ?? 100}%` }}
      />
    </div>
  );
}
