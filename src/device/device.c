/* What a device and its memory say of themselves. */
#include "device/client.h"

#include <string.h>

static xp_abi_error *answer(xp_abi_text_args *args, const char *text)
{
  args->text = text;
  args->text_size = strlen(text);
  return NULL;
}

xp_abi_error *xp_dev_description_id(xp_abi_int32_args *args)
{
  args->value = ((const xp_abi_device_description *)args->object)->id;
  return NULL;
}

xp_abi_error *xp_dev_description_process(xp_abi_int32_args *args)
{
  args->value = 0;
  return NULL;
}

xp_abi_error *xp_dev_description_attributes(xp_abi_values_args *args)
{
  args->items = ((const xp_abi_device_description *)args->object)->attributes;
  args->count = XP_DEV_ATTRIBUTES;
  return NULL;
}

xp_abi_error *xp_dev_description_kind(xp_abi_text_args *args)
{
  return answer(args, XP_DEV_KIND);
}

xp_abi_error *xp_dev_description_text(xp_abi_text_args *args)
{
  return answer(args, ((const xp_abi_device_description *)args->object)->text);
}

xp_abi_error *xp_dev_device_description(xp_abi_pointer_args *args)
{
  args->value = &((xp_abi_device *)args->object)->description;
  return NULL;
}

xp_abi_error *xp_dev_device_is_addressable(xp_abi_bool_args *args)
{
  args->value = true;
  return NULL;
}

xp_abi_error *xp_dev_device_hardware_id(xp_abi_int32_args *args)
{
  args->value = ((const xp_abi_device *)args->object)->ordinal;
  return NULL;
}

xp_abi_error *xp_dev_device_memories(xp_abi_list_args *args)
{
  const xp_abi_device *device = args->object;
  args->items = &device->client->memory_list[device->ordinal];
  args->count = 1;
  return NULL;
}

xp_abi_error *xp_dev_device_default_memory(xp_abi_pointer_args *args)
{
  args->value = &((xp_abi_device *)args->object)->memory;
  return NULL;
}

xp_abi_error *xp_dev_memory_id(xp_abi_int32_args *args)
{
  args->value = ((const xp_abi_memory *)args->object)->device->ordinal;
  return NULL;
}

xp_abi_error *xp_dev_memory_kind(xp_abi_text_args *args)
{
  return answer(args, "device");
}

xp_abi_error *xp_dev_memory_kind_id(xp_abi_int32_args *args)
{
  args->value = 0;
  return NULL;
}

xp_abi_error *xp_dev_memory_text(xp_abi_text_args *args)
{
  return answer(args, ((const xp_abi_memory *)args->object)->text);
}

xp_abi_error *xp_dev_memory_devices(xp_abi_list_args *args)
{
  const xp_abi_device *device = ((const xp_abi_memory *)args->object)->device;
  args->items = &device->client->device_list[device->ordinal];
  args->count = 1;
  return NULL;
}
