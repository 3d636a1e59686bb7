/** The first of some names, and how many there are besides them: `a, b and 3 more`. @param count of all, where `names` are some */
export function someOf(names: readonly string[], most: number, count = names.length): string {
  const shown = names.slice(0, most)
  const more = count - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
