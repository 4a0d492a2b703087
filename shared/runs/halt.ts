/** By whom a halt is: a comment pauses and resumes its repository, an operator's halt only an operator lifts. Pure. */

/** No caller of the API is called so: names in ARNs of IAM have no colon. */
const IN_A_COMMENT = 'github:'

/** By whom a halt is that the person with this login set in a comment. */
export function pausedBy(login: string): string {
  return `${IN_A_COMMENT}${login}`
}

/** True for a halt that was set in a comment; any other is an operator's. */
export function isPause({ by }: { readonly by: string }): boolean {
  return by.startsWith(IN_A_COMMENT)
}
