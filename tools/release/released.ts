/** Parts of a release, as `npm run release -- --only` takes them. */
export const RELEASED: readonly string[] = ['file', 'npm', 'images', 'krew']
