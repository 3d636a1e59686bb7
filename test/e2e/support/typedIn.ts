import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Commands of a page: those of its `sh` blocks, in their order. */
export function typedIn(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^```sh\n(.*?)^```/gms)].map(match => match[1]!)
  // a here document is one command, and so is what a backslash continues
  return blocks.flatMap(block => block.match(/^(?:.*<<'?END'?\n(?:.*\n)*?END|(?:.*\\\n)*.+)$/gm) ?? [])
}

export interface ShellBlock {
  /** Heading of its section, with its `#`. */
  heading: string
  /** Without the indent of a list that it is part of. */
  script: string
}

/** The `sh` blocks of a page. @throws Error for another name of a shell, which no test would look for */
export function shellBlocks(markdown: string): ShellBlock[] {
  const blocks: ShellBlock[] = []
  let heading = ''
  for (const [, title, indent = '', language, text = ''] of markdown.matchAll(
    /^(#+ [^\n]*)$|^( *)```(\w*)\n(.*?)^ *```$/gms,
  )) {
    if (title !== undefined) heading = title
    else if (/^(bash|shell|console|zsh|shellsession)$/.test(language!))
      throw new Error(`${heading}: write sh, not ${language}`)
    else if (language === 'sh') blocks.push({ heading, script: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') })
  }
  return blocks
}

/** Pages of docs/ as one text. */
export function pagesOf(...names: string[]): string {
  return names.map(name => readFileSync(join(import.meta.dirname, '../../../docs', name), 'utf8')).join('\n')
}

/** The text of a section, heading left out, without the sections below it. @throws Error when there is none */
export function sectionOf(page: string, heading: string): string {
  const [, found] = page.split(`\n${heading}\n`)
  if (found === undefined) throw new Error(`there is no section ${heading}`)
  return found.split(/\n##+ /)[0]!
}
