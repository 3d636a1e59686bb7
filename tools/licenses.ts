/** The terms of the libraries that are inside the bundle: all want to be passed on with the code. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM_ROOT } from '../src/program/programRoot.ts'

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/
const TERMS = /^(licen[cs]e|notice|copying)/i

/** @param inputs files of the bundle, from the program's root. Each package once, in the order of their names. */
export function licensesOf(inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap(path => PACKAGE.exec(path)?.[0] ?? []))
  return [...folders].sort().map(termsOf).join('\n')
}

function termsOf(folder: string): string {
  const path = join(PROGRAM_ROOT, folder)
  const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Facts
  const files = readdirSync(path).filter(file => TERMS.test(file) && !/\.(js|ts)$/.test(file))
  const texts = files.map(file => readFileSync(join(path, file), 'utf8').trim())
  return `# ${name} ${version} (${license ?? 'no licence named'})\n\n${texts.map(text => `${text}\n`).join('\n')}`
}

interface Facts {
  name: string
  version: string
  license?: string
}
