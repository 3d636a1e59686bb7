/**
 * What a stored object says, cut from its text without parsing it: all but which one it is, when it was made and what is reported
 * of it. Two of which that is the same were made of the same; a thousand copies of an object are compared as one.
 *
 * It follows the canonical text of codec.ts. What is not found where it is expected, and just once, is not cut: then there is no
 * answer, or two texts differ that need not. Texts that are equal are never of objects that say different things.
 */
import type { Likeness } from '../../client/client.ts'
import type { Body } from '../../storage/body.ts'
import { SharedStored } from '../../storage/sharedStored.ts'
import type { Stored } from '../../storage/store.ts'

const UID = '"uid":"'
const CREATED = '"creationTimestamp":"'
const CLUSTER = '"kcp.io/cluster":"'
const MANAGED = '"managedFields":['
const TIME = '"time":"'
const STATUS = ',"status":{'

export class StoredLikeness {
  /** Of texts that differ in nothing but what is cut from them. */
  readonly #ofForms = new WeakMap<Body, Likeness>()

  of(stored: Stored): Likeness | undefined {
    if (!(stored instanceof SharedStored)) return cutOut(stored)
    const known = this.#ofForms.get(stored.body)
    if (known) return { ...known, uid: stored.own }
    const likeness = cutOut(stored)
    // where a value that differs is left in it, each text of the form has to be looked at
    const differs = [stored.own, ...stored.rest, stored.key.space]
    if (likeness?.uid !== stored.own || differs.some(value => likeness.text.includes(value))) return likeness
    this.#ofForms.set(stored.body, likeness)
    return likeness
  }
}

function cutOut({ key, bytes, headBytes, revision }: Stored): Likeness | undefined {
  // byte by byte: nothing is looked for that is not ASCII
  const head = bytes.toString('latin1', 0, headBytes)
  const uid = only(head, UID)
  const created = only(head, CREATED)
  if (uid === undefined || created === undefined) return undefined
  const cuts = [uid, created]
  const cluster = only(head, CLUSTER)
  if (cluster && head.slice(cluster.from, cluster.to) === key.space) cuts.push(cluster)
  // a value that holds this text has its quotes escaped, and no other member of metadata is a list of that name
  const managed = head.indexOf(MANAGED)
  for (let at = managed === -1 ? -1 : head.indexOf(TIME, managed); at !== -1; at = head.indexOf(TIME, at + 1))
    cuts.push(valueAt(head, at, TIME))
  cuts.sort((a, b) => a.from - b.from)
  let text = ''
  let end = 0
  for (const { from, to } of cuts) {
    text += head.slice(end, from)
    end = to
  }
  const tail = bytes.toString('latin1', headBytes + String(revision).length)
  const status = statusIn(tail)
  const rest = status ? tail.slice(0, status.from) + tail.slice(status.to) : tail
  return {
    text: `${text}${head.slice(end)}\n${rest}`,
    uid: head.slice(uid.from, uid.to),
    hasStatus: status !== undefined || tail.includes(STATUS),
  }
}

interface Cut {
  readonly from: number
  readonly to: number
}

/** The value of a member, if there is one place alone that looks like it. */
function only(text: string, member: string): Cut | undefined {
  const at = text.indexOf(member)
  return at === -1 || text.indexOf(member, at + 1) !== -1 ? undefined : valueAt(text, at, member)
}

function valueAt(text: string, at: number, member: string): Cut {
  const from = at + member.length
  return { from, to: text.indexOf('"', from) }
}

/** The object's own status, with its name and the comma before it: the last one that is, behind which nothing else is. */
function statusIn(tail: string): Cut | undefined {
  const from = tail.lastIndexOf(STATUS)
  if (from === -1) return undefined
  const to = endOfObject(tail, from + STATUS.length - 1)
  return to === tail.length - 1 ? { from, to } : undefined
}

/** Behind the object that begins there. */
function endOfObject(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === 0x22) at = endOfString(text, at)
    else if (character === 0x7b) depth++
    else if (character === 0x7d && --depth === 0) return at + 1
  }
  return -1
}

/** Where the string that begins there has its closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  for (let character = text.charCodeAt(at); character !== 0x22 && at < text.length; character = text.charCodeAt(at))
    at += character === 0x5c ? 2 : 1
  return at
}
