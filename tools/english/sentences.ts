/** Sentences of sources and documents, as a reader meets them: comments, texts in quotes, paragraphs of Markdown. */

/** Sentences of the comments that have lines of their own. */
export function commentsOf(source: string): string[] {
  const paragraphs: string[] = []
  const lines: string[] = []
  for (const line of [...source.split('\n'), '']) {
    const text = /^\s*(?:\/\*\*?|\*(?!\/)|\/\/)\s?(.*?)(?:\s*\*\/)?$/.exec(line)?.[1]
    // a tag (`@throws`), an item of a list and an empty line begin anew
    if (text === undefined || text === '' || /^(?:@|- |\d+\. )/.test(text)) paragraphs.push(lines.splice(0).join(' '))
    if (text !== undefined) lines.push(text.replace(/^(?:@\w+(?: \{.*?\})?|- |\d+\. )\s*/, ''))
  }
  return paragraphs.flatMap(sentencesOf)
}

/**
 * Sentences in quotes, of four words or more: messages of errors and conditions, notes of Events, helps of commands. Tables and scripts are
 * none: their lines are indented, or assign numbers.
 */
export function textsOf(source: string): string[] {
  const code = source.replace(/^\s*(?:\/\*\*?|\*|\/\/).*$/gm, '')
  return [...code.matchAll(/'((?:\\.|[^'\\\n])*)'|`((?:\\.|[^`\\])*)`/g)]
    .map(([, quoted, template]) => (quoted ?? template!).replace(/\$\{[^}]*\}/g, 'X'))
    .flatMap(text => text.split(/\n\n(?! )/).flatMap(sentencesOf))
    .filter(sentence => wordsOf(sentence) > 3 && !/\n[ \t]|\w=\d+ \w/.test(sentence))
}

/** Sentences of a Markdown document: its paragraphs, items and table cells, without its blocks of code. */
export function documentOf(markdown: string): string[] {
  return markdown
    .replace(/^ *```[\s\S]*?^ *```$/gm, '\n\n')
    .split(/\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\.) )|(?<=[^\\])\|/)
    .map(part => part.replace(/^\s*(?:(?:[-*#>]+|\d+\.) )?/, '').replace(/\s+/g, ' '))
    .flatMap(sentencesOf)
}

/** Blanks divide words; signs alone are none. */
export function wordsOf(sentence: string): number {
  return sentence.split(/\s+/).filter(word => /[\p{L}\p{N}]/u.test(word)).length
}

function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?][)"'`*]*)\s+(?=["'(`*[]*[\p{Lu}`])/u)
    .map(sentence => sentence.trim())
    .filter(sentence => sentence !== '')
}
