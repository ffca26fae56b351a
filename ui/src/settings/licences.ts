/** The licence of a package that is part of this page. */
export interface Licence {
  name: string;
  text: string;
}

const FILES = import.meta.glob<string>(
  [
    '/node_modules/{svelte,virtua,clsx,esm-env}/{LICENSE,LICENSE.md,license}',
    '/node_modules/@tauri-apps/api/LICENSE-MIT',
    '/node_modules/{d3-scale,d3-shape,d3-array,d3-path,d3-interpolate,d3-color,d3-format,d3-time,d3-time-format,internmap}/LICENSE',
  ],
  { query: '?raw', import: 'default' },
);

/** The packages' names and their licences' texts; read when someone looks. */
export async function licences(): Promise<Licence[]> {
  const found = await Promise.all(
    Object.entries(FILES).map(async ([path, read]) => ({ name: path.split('/').slice(2, -1).join('/'), text: (await read()).trim() })),
  );
  return found.sort((a, b) => a.name.localeCompare(b.name));
}
