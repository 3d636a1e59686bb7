/** Parts of generated pages. */

/** Text in a cell of a table, where it is no Markdown of its own. */
export const cell = (text: string): string =>
  text.trim().replaceAll('\n', ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*')

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')

/** Blocks with an empty line between two, ended. */
export const page = (...blocks: readonly string[]): string => `${blocks.join('\n\n').trimEnd()}\n`
