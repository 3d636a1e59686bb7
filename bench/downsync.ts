/**
 * First downsync latency: from the write of a workload object to its copy in a mailbox space. There is nothing like it in
 * the peer, so it stands without a ratio.
 */

/** Milliseconds, or why it was not measured. */
export async function measureDownsync(): Promise<number | string> {
  return 'not measured: the placement path is not part of this server yet'
}
