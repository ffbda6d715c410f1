"""Every function as operators of ``torch.library``, for torch.compile, torch.export, torch.func and other tracers."""
