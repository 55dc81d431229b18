/** The box that leaves only the calls outside of runs. */
import { useEffect, useState } from 'react';

interface ExcludeRunsProps {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export function ExcludeRuns({ isOn, onChange }: ExcludeRunsProps) {
  // The address follows a moment later; the box answers at once.
  const [isShownOn, setShownOn] = useState(isOn);
  useEffect(() => setShownOn(isOn), [isOn]);
  return (
    <label className="flex h-8 items-center gap-1.5">
      <input
        type="checkbox"
        checked={isShownOn}
        onChange={(event) => {
          setShownOn(event.target.checked);
          onChange(event.target.checked);
        }}
      />
      Exclude runs
    </label>
  );
}
