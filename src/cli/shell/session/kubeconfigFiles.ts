/**
 * Kubeconfig files as kubectl reads and writes them: the flag's file, or the list in `KUBECONFIG`, or `~/.kube/config`. Among several files
 * the first that has an entry wins; new entries and the current context go to the first file that exists. Comments and fields that we do
 * not know stay.
 * @see https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files
 */
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { type Document, isMap, isSeq, parseDocument, type YAMLMap } from 'yaml'
import { isRecord } from '../../../apimachinery/object.ts'
import { readIfExists } from '../../../program/replacedFiles.ts'
import { CommandError } from '../commandError.ts'

type EntryKind = 'clusters' | 'contexts' | 'users'
export type Entry = Record<string, unknown>

/** The key under which an entry of a list holds its content. */
const CONTENT = { clusters: 'cluster', contexts: 'context', users: 'user' } as const
/** Fields that name files, relative to the folder of the kubeconfig. */
const FILE_FIELDS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'] as const

interface LoadedFile {
  readonly path: string
  readonly document: Document
  changed: boolean
}

/** The files in the order of their precedence, whether they exist or not. */
export function kubeconfigPaths(flag: string | undefined, environment: string | undefined): string[] {
  if (flag !== undefined) return [flag]
  const listed = (environment ?? '').split(delimiter).filter(path => path !== '')
  return listed.length > 0 ? [...new Set(listed)] : [join(homedir(), '.kube', 'config')]
}

export class KubeconfigFiles {
  readonly #files: readonly LoadedFile[]

  /** Use {@link KubeconfigFiles.read}. */
  private constructor(files: readonly LoadedFile[]) {
    this.#files = files
  }

  /** Files that are missing are passed over. @throws CommandError when all are missing, or one is not a YAML mapping */
  static async read(paths: readonly string[]): Promise<KubeconfigFiles> {
    const files: LoadedFile[] = []
    for (const path of paths) {
      const text = await readIfExists(path)
      if (text === undefined) continue
      const document: Document = parseDocument(text)
      const problem = document.errors[0]
      if (problem) throw new CommandError(`${path}: ${problem.message}`)
      if (document.contents === null) document.contents = document.createNode({ apiVersion: 'v1', kind: 'Config' })
      if (!isMap(document.contents)) throw new CommandError(`${path}: a kubeconfig must be a YAML mapping`)
      files.push({ path, document, changed: false })
    }
    if (files.length === 0) throw new CommandError(`no kubeconfig found at ${paths.join(', ')}`)
    return new KubeconfigFiles(files)
  }

  /** Paths of the files that exist. */
  get paths(): string[] {
    return this.#files.map(file => file.path)
  }

  /** Names of all contexts, in their order. */
  get contexts(): string[] {
    return [...new Set(this.#files.flatMap(({ document }) => namesOf(document, 'contexts')))]
  }

  /** `''` when no file names one. */
  get currentContext(): string {
    for (const { document } of this.#files) {
      const name = document.get('current-context')
      if (typeof name === 'string' && name !== '') return name
    }
    return ''
  }

  set currentContext(name: string) {
    const file = this.#files[0]!
    file.document.set('current-context', name)
    file.changed = true
  }

  /** A copy of an entry's content; names of files in it are absolute unless all is one file. */
  get(kind: EntryKind, name: string): Entry | undefined {
    for (const file of this.#files) {
      const content = itemOf(file.document, kind, name)?.get(CONTENT[kind], true)
      if (content === undefined) continue
      const value: unknown = isMap(content) ? content.toJSON() : {}
      if (!isRecord(value)) return {}
      return this.#files.length > 1 ? withAbsoluteFiles(value, dirname(file.path)) : value
    }
    return undefined
  }

  /** Replaces an entry's content where the entry is, or adds it to the first file. */
  set(kind: EntryKind, name: string, content: Entry): void {
    const file = this.#files.find(({ document }) => itemOf(document, kind, name) !== undefined) ?? this.#files[0]!
    const { document } = file
    file.changed = true
    const item = itemOf(document, kind, name)
    if (item) {
      item.set(CONTENT[kind], document.createNode(content))
      return
    }
    const list = document.get(kind)
    const added = document.createNode({ [CONTENT[kind]]: content, name })
    if (isSeq(list)) list.add(added)
    else document.set(kind, document.createNode([added]))
  }

  /** One kubeconfig that says what all files say together, as JSON text (which is YAML). */
  merged(): string {
    const whole: Record<string, unknown> = { apiVersion: 'v1', kind: 'Config', 'current-context': this.currentContext }
    for (const kind of ['clusters', 'contexts', 'users'] as const) {
      const names = new Set(this.#files.flatMap(({ document }) => namesOf(document, kind)))
      whole[kind] = [...names].map(name => ({ name, [CONTENT[kind]]: this.get(kind, name) ?? {} }))
    }
    return JSON.stringify(whole)
  }

  /** New text of each file that was changed. */
  changes(): { path: string; text: string }[] {
    return this.#files
      .filter(file => file.changed)
      .map(({ path, document }) => ({ path, text: document.toString({ lineWidth: 0, indentSeq: false }) }))
  }
}

function itemOf(document: Document, kind: EntryKind, name: string): YAMLMap | undefined {
  const list = document.get(kind)
  if (!isSeq(list)) return undefined
  return list.items.find((item): item is YAMLMap => isMap(item) && item.get('name') === name)
}

function namesOf(document: Document, kind: EntryKind): string[] {
  const list = document.get(kind)
  if (!isSeq(list)) return []
  return list.items.flatMap(
    item => (isMap(item) && typeof item.get('name') === 'string' ? [item.get('name')] : []) as string[],
  )
}

function withAbsoluteFiles(content: Entry, folder: string): Entry {
  const copy = { ...content }
  for (const field of FILE_FIELDS) {
    const value = copy[field]
    if (typeof value === 'string' && value !== '' && !isAbsolute(value)) copy[field] = resolve(folder, value)
  }
  return copy
}
