/** What a page says to type: the commands of its `sh` blocks, in their order. */
export function typedIn(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^```sh\n(.*?)^```/gms)].map(match => match[1]!)
  // a here document is one command, and so is what a backslash continues
  return blocks.flatMap(block => block.match(/^(?:.*<<'?END'?\n(?:.*\n)*?END|(?:.*\\\n)*.+)$/gm) ?? [])
}

/** The text of a section, heading left out, without the sections below it. @throws Error when there is none */
export function sectionOf(page: string, heading: string): string {
  const [, found] = page.split(`\n${heading}\n`)
  if (found === undefined) throw new Error(`there is no section ${heading}`)
  return found.split(/\n##+ /)[0]!
}
