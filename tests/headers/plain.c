/* What is left of all.c when its annotations are compiled out. */
int work(int value);

int work(int value)
{
  return value + 1;
}
