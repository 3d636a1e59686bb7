/** What a page says to type: the commands of its `sh` blocks, in their order. */
export function typedIn(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^```sh\n(.*?)^```/gms)].map(match => match[1]!)
  // a here document is one command, and so is what a backslash continues
  return blocks.flatMap(block => block.match(/^(?:.*<<'?END'?\n(?:.*\n)*?END|(?:.*\\\n)*.+)$/gm) ?? [])
}
