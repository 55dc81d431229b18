// Before the first paint: the chosen theme, else the system's. A file of its own, since the policy allows no inline script.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('tollgate.theme');
  } catch {
    // Storage may be forbidden: then the system decides.
  }
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
})();
